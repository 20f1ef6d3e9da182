// Runs before the page is painted, so that a chosen theme does not flash.

import { apply, chosen } from "./theme";

apply(chosen());
