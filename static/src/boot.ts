document.documentElement.dataset.boot = "1";
