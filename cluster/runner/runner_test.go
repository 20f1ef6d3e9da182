package runner

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

var background = context.Background()

func TestPlaysAtATwelfth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil)
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		if got := fake().steps; got != 10 {
			t.Errorf("%d steps of 10 ms in 1.2 s at 1/12, want 10", got)
		}
		status := must[Status](t)(r.Status(background))
		want := Status{Playing: true, Speed: DefaultSpeed, Time: 100 * sim.Millisecond, Seq: 10}
		if status != want {
			t.Errorf("status %+v, want %+v", status, want)
		}
	})
}

func TestPauseStopsVirtualTimeAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil)
		rd := watch(t, r)
		time.Sleep(606 * time.Millisecond)
		must[Result](t)(r.Pause(background))
		for rd.status.Playing {
			rd.read()
		}
		if want := 50*sim.Millisecond + 500*sim.Microsecond; rd.time != want {
			t.Errorf("paused at %v, want %v", rd.time, want)
		}
		steps, ticks := fake().steps, r.loop.ticks
		rd.quiet(24 * time.Hour)
		synctest.Wait()
		if fake().steps != steps {
			t.Error("a paused cluster took steps")
		}
		if r.loop.ticks != ticks {
			t.Errorf("a paused cluster woke %d times in a day, want 0", r.loop.ticks-ticks)
		}
		must[Result](t)(r.Play(background))
		time.Sleep(114 * time.Millisecond)
		synctest.Wait()
		if fake().steps != steps+1 {
			t.Error("playing goes on where it was: the sixth step is due 9.5 ms later")
		}
	})
}

func TestSpeedChangesFromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, nil)
		var want sim.Time
		for _, speed := range []float64{1, 20, 0.001, 0.5} {
			must[Result](t)(r.SetSpeed(background, speed))
			time.Sleep(2 * time.Second)
			want = sim.Time(math.Round(float64(want) + 2e6*speed))
			status := must[Status](t)(r.Status(background))
			if status.Time != want || status.Speed != speed {
				t.Errorf("after 2 s at %v: %v at speed %v, want %v", speed, status.Time, status.Speed, want)
			}
		}
		for _, speed := range []float64{0, -1, 0.0009, 20.1, math.NaN(), math.Inf(1)} {
			if _, err := r.SetSpeed(background, speed); !errors.Is(err, ErrSpeed) {
				t.Errorf("speed %v: %v", speed, err)
			}
		}
	})
}

func TestStepPausesAndTakesStepsUntilOneTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil, func(f *fakeRun) {
			f.onStep = func(f *fakeRun) {
				switch {
				case f.steps%12 == 0:
					f.emit(trace.TimerFired, "") // quiet
					f.emit(trace.BrokerStarted, "")
				case f.steps%3 == 0:
					f.emit(trace.TimerFired, "")
				}
			}
		})
		res := must[Result](t)(r.Step(background, false))
		if fake().steps != 3 || res.Seq != 1 {
			t.Errorf("%d steps to event %d, want 3 to event 1", fake().steps, res.Seq)
		}
		res = must[Result](t)(r.Step(background, true))
		if fake().steps != 12 || res.Seq != 5 {
			t.Errorf("%d steps to event %d, want 12 to event 5", fake().steps, res.Seq)
		}
		status := must[Status](t)(r.Status(background))
		if status.Playing || status.Time != 120*sim.Millisecond {
			t.Errorf("after stepping: %+v, want paused at 120ms", status)
		}
	})
}

func TestStepGivesUpWhenNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil, func(f *fakeRun) { f.onStep = func(*fakeRun) {} })
		if _, err := r.Step(background, false); !errors.Is(err, ErrQuiet) {
			t.Error(err)
		}
		if want := DefaultLimits().SearchSteps; fake().steps != want {
			t.Errorf("%d steps, want %d", fake().steps, want)
		}
	})
}

func TestStatementMeetsThePresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil)
		must[Result](t)(r.SetSpeed(background, 1))
		time.Sleep(25 * time.Millisecond)
		res := must[Result](t)(r.Execute(background, "stop broker 1"))
		if res.Seq != 3 {
			t.Errorf("the statement is event %d, want 3: after two steps, before what it led to", res.Seq)
		}
		synctest.Wait()
		if got, want := must[string](t)(r.Recording(background)), "25000 stop broker 1"; got != want {
			t.Errorf("recorded %q, want %q", got, want)
		}
		if _, err := r.Execute(background, "bad"); err == nil || err.Error() != "1:1: unknown statement" {
			t.Errorf("error of the run: %v", err)
		}
		if res := must[Result](t)(r.Execute(background, "show")); res.Output != "shown" || res.Seq != fake().seq {
			t.Errorf("show: %+v", res)
		}
	})
}

func TestReaderGetsEveryEventOnceInFewUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil, func(f *fakeRun) { f.every = sim.Millisecond })
		rd := watch(t, r)
		must[Result](t)(r.SetSpeed(background, 1))
		begun, updates := time.Now(), len(rd.updates)
		for rd.next <= 1000 {
			rd.read()
		}
		updates = len(rd.updates) - updates
		if most := int(time.Since(begun)/(16*time.Millisecond)) + 2; updates > most {
			t.Errorf("%d updates in %v, want at most %d", updates, time.Since(begun), most)
		}
		if uint64(rd.next-1) > uint64(fake().steps) {
			t.Error("more events than steps")
		}
		if took := time.Since(begun); took > 1050*time.Millisecond {
			t.Errorf("1000 events of 1 ms at speed 1 took %v", took)
		}
	})
}

func TestTimePassesWithoutEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, nil, func(f *fakeRun) { f.every, f.next = sim.Minute, sim.Minute })
		rd := watch(t, r)
		begun, from := time.Now(), rd.time
		for range 20 {
			if u := rd.read(); len(u.Events) != 0 || u.Changed {
				t.Fatalf("%+v", u)
			}
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("20 updates took %v, want 1 s", took)
		}
		if got := rd.time - from; got < 83333 || got > 83334 {
			t.Errorf("%d µs of virtual time in 1 s at 1/12", got)
		}
	})
}

// A run that costs more wall time than it has falls behind, goes on answering, and
// does not make up for it when it gets cheap again.
func TestNeverSpirals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := 10 * time.Millisecond // of one step of 1 ms virtual time
		r, fake := start(t, nil, func(f *fakeRun) {
			f.every, f.next = sim.Millisecond, sim.Millisecond
			f.onStep = func(f *fakeRun) { time.Sleep(cost); f.emit(trace.BrokerStarted, "") }
		})
		must[Result](t)(r.SetSpeed(background, 20))
		for range 50 {
			time.Sleep(100 * time.Millisecond)
			asked := time.Now()
			must[Status](t)(r.Status(background))
			if waited := time.Since(asked); waited > 50*time.Millisecond {
				t.Fatalf("an overloaded cluster took %v to answer", waited)
			}
		}
		behind := must[Status](t)(r.Status(background)).Time
		if behind > 600*sim.Millisecond {
			t.Errorf("%v of virtual time in 5 s: at 10 ms a step 500 steps fit", behind)
		}
		must[Result](t)(r.Pause(background))
		cost = 0
		must[Result](t)(r.SetSpeed(background, 1))
		must[Result](t)(r.Play(background))
		before := must[Status](t)(r.Status(background)).Time
		time.Sleep(time.Second)
		if got := must[Status](t)(r.Status(background)).Time - before; got != sim.Second {
			t.Errorf("%v of virtual time in 1 s at speed 1 after an overload, want 1000ms", got)
		}
		_ = fake
	})
}

func TestEventsPerSecondAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil, func(f *fakeRun) { f.every, f.next = sim.Microsecond, sim.Microsecond })
		must[Result](t)(r.SetSpeed(background, 20))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if most := 10*20_000 + 2*1000; fake().steps > most || fake().steps < most/2 {
			t.Errorf("%d events in 10 s, want about %d and no more", fake().steps, most)
		}
	})
}

// stall holds the runner up, as a machine that sleeps would.
func TestLostWallTimeIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil)
		must[Result](t)(r.SetSpeed(background, 1))
		_, _ = ask(background, r, func(*loop) (int, error) { time.Sleep(time.Hour); return 0, nil })
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if fake().now > 500*sim.Millisecond {
			t.Errorf("an hour was made up for: %v", fake().now)
		}
	})
}

func TestSlowReaderGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, func(c *Config) { c.Limits.KeptEvents = 100 })
		slow, quick := watch(t, r), watch(t, r)
		must[Result](t)(r.SetSpeed(background, 1))
		slow.read()
		for quick.next <= 500 { // 5 s in which slow asks for nothing
			quick.read()
		}
		for _, u := range quick.updates[1:] {
			if u.Snapshot != nil {
				t.Fatal("the quick reader was sent a snapshot")
			}
		}
		u := slow.read()
		if !u.Behind || u.Snapshot == nil || !u.Changed || len(u.Events) != 0 {
			t.Errorf("the slow reader got %+v", u)
		}
		if slow.next != fake().seq+1 {
			t.Errorf("it is at %d, the cluster at %d", slow.next, fake().seq)
		}
		for slow.next <= 600 {
			if u := slow.read(); u.Snapshot != nil {
				t.Fatal("another snapshot")
			}
		}
	})
}

func TestRingIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, func(c *Config) { c.Limits.KeptBytes = 10_000 }, func(f *fakeRun) {
			f.onStep = func(f *fakeRun) { f.emit(trace.StatementExecuted, strings.Repeat("x", 900)) }
		})
		must[Result](t)(r.SetSpeed(background, 1))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(r.loop.ring.events); n != 10 || r.loop.ring.bytes > 10_000 {
			t.Errorf("%d events, %d bytes are kept", n, r.loop.ring.bytes)
		}
	})
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, func(c *Config) { c.Limits.KeptEvents = 100 })
		must[Result](t)(r.SetSpeed(background, 1))
		time.Sleep(2 * time.Second)
		must[Result](t)(r.Pause(background))
		synctest.Wait()
		head := fake().seq
		for _, c := range []struct {
			name   string
			run    int
			from   sim.Seq
			events int // −1: a snapshot
		}{
			{"where it was", 1, head - 9, 10},
			{"nothing missed", 1, head + 1, 0},
			{"the oldest kept", 1, head - 99, 100},
			{"not kept any more", 1, head - 100, -1},
			{"from the future", 1, head + 2, -1},
			{"another run", 2, head, -1},
			{"new", 0, 0, -1},
		} {
			sub, err := r.Subscribe(background, c.run, c.from)
			if err != nil {
				t.Fatal(err)
			}
			rd := &reader{t: t, sub: sub, run: c.run, next: c.from}
			u := rd.read()
			switch {
			case c.events < 0 && (u.Snapshot == nil || u.Behind):
				t.Errorf("%s: no snapshot, or one that blames the reader", c.name)
			case c.events >= 0 && (u.Snapshot != nil || len(u.Events) != c.events):
				t.Errorf("%s: %d events, snapshot %s", c.name, len(u.Events), u.Snapshot)
			case !u.Changed || u.Run != 1:
				t.Errorf("%s: it must learn the status and the run: %+v", c.name, u)
			}
			sub.Close()
		}
	})
}

func TestNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, nil)
		present := func() sim.Time { return must[Status](t)(r.Status(background)).Time }
		rd := watch(t, r)
		time.Sleep(10 * time.Minute) // slow, but there
		if want := 10 * sim.Minute / 12; present() != want {
			t.Errorf("a watched cluster is at %v after 10 min, want %v", present(), want)
		}
		rd.sub.Close()
		left := present()
		time.Sleep(time.Hour)
		if passed := present() - left; passed != 10*sim.Second {
			t.Errorf("%v of virtual time without anyone, want 10 s (2 min at 1/12)", passed)
		}
		stood, ticks := present(), r.loop.ticks
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if r.loop.ticks != ticks {
			t.Errorf("it woke %d times in a day without anyone", r.loop.ticks-ticks)
		}
		rd = watch(t, r)
		if !rd.status.Playing || rd.time != stood {
			t.Errorf("when someone comes: %+v, want playing from %v", rd.status, stood)
		}
		time.Sleep(1200 * time.Millisecond)
		if got := present() - stood; got != 100*sim.Millisecond {
			t.Errorf("%v in 1.2 s after someone came, want 100ms", got)
		}
	})
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, nil)
		rd := watch(t, r)
		must[Result](t)(r.SetSpeed(background, 1))
		for rd.next < 50 {
			rd.read()
		}
		if _, err := r.Restart(background, "none"); err == nil {
			t.Fatal("a line that does not exist was accepted")
		}
		before := rd.next
		rd.read()
		if rd.run != 1 || rd.next < before {
			t.Error("a restart that fails must leave the run alone")
		}
		must[Result](t)(r.Restart(background, "2.4"))
		u := rd.read()
		for u.Run == 1 {
			u = rd.read()
		}
		if u.Run != 2 || u.Kafka != "2.4" || u.Snapshot == nil || u.Behind || fake().kafka != "2.4" {
			t.Errorf("after a restart: %+v", u)
		}
		if !rd.status.Playing || rd.status.Speed != 1 || rd.status.Seq > 3 {
			t.Errorf("after a restart: %+v, want playing at speed 1 from the beginning", rd.status)
		}
		for rd.next < 20 {
			rd.read()
		}
	})
}

func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := start(t, func(c *Config) { c.Limits.RunEvents = 30 })
		rd := watch(t, r)
		must[Result](t)(r.SetSpeed(background, 1))
		for !rd.status.Full {
			rd.read()
		}
		if rd.status.Playing || rd.status.Seq != 30 || rd.next != 31 {
			t.Errorf("full: %+v", rd.status)
		}
		rd.quiet(time.Hour)
		if fake().steps != 30 {
			t.Errorf("%d steps", fake().steps)
		}
		for name, f := range map[string]func() (Result, error){
			"do":   func() (Result, error) { return r.Execute(background, "stop broker 1") },
			"play": func() (Result, error) { return r.Play(background) },
			"step": func() (Result, error) { return r.Step(background, false) },
		} {
			if _, err := f(); !errors.Is(err, ErrFull) {
				t.Errorf("%s on a full run: %v", name, err)
			}
		}
		must[Result](t)(r.Restart(background, ""))
		for rd.run == 1 {
			rd.read()
		}
		if rd.status.Full || !rd.status.Playing {
			t.Errorf("a new run: %+v", rd.status)
		}
	})
}

func TestPanicEndsTheRunOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Runner)
		bad  func(*fakeRun)
	}{
		{name: "in a statement", do: func(r *Runner) { _, _ = r.Execute(background, "panic") }},
		{name: "in a step", bad: func(f *fakeRun) {
			f.onStep = func(f *fakeRun) {
				f.emit(trace.BrokerStarted, "")
				if f.steps == 5 && f.kafka == "0.10" {
					panic("core: invariant broken")
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told string
				r, _ := start(t, func(cfg *Config) {
					cfg.Failed = func(message string, stack []byte) { told = message + string(stack) }
				}, func(f *fakeRun) {
					if c.bad != nil {
						c.bad(f)
					}
				})
				rd := watch(t, r)
				must[Result](t)(r.Execute(background, "stop broker 1"))
				if c.do != nil {
					c.do(r)
				}
				for rd.status.Failed == "" {
					rd.read()
				}
				if rd.status.Failed != "core: invariant broken" || rd.status.Playing {
					t.Errorf("status %+v", rd.status)
				}
				if !strings.Contains(told, "invariant broken") || !strings.Contains(told, "fake_test.go") {
					t.Errorf("the log is told %q", told)
				}
				if _, err := r.Step(background, true); !errors.Is(err, ErrFailed) {
					t.Errorf("step of a failed run: %v", err)
				}
				if _, err := r.Execute(background, "start broker 1"); !errors.Is(err, ErrFailed) {
					t.Errorf("statement for a failed run: %v", err)
				}
				if got := must[string](t)(r.Recording(background)); got != "0 stop broker 1" {
					t.Errorf("recording of a failed run: %q", got)
				}
				late := watch(t, r)
				if late.status.Failed == "" || late.updates[0].Snapshot == nil {
					t.Errorf("who comes later: %+v", late.updates[0])
				}
				must[Result](t)(r.Restart(background, "2.4"))
				for rd.run == 1 {
					rd.read()
				}
				if rd.status.Failed != "" || !rd.status.Playing {
					t.Errorf("a new run: %+v", rd.status)
				}
			})
		})
	}
}

// broken panics whenever it is looked at.
type broken struct{ *fakeRun }

func (broken) Snapshot() *trace.Snapshot { panic("snapshot: broken too") }
func (broken) Recording() string         { panic("recording: broken too") }

func TestFailedRunThatCannotBeLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(Config{Limits: DefaultLimits(), Make: func(kafka string, sink func(*trace.Event)) (Run, error) {
			return broken{newFake(kafka, sink)}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		sub, err := r.Subscribe(background, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Ask(background); err != nil {
			t.Fatal(err)
		}
		if u := <-sub.Updates(); u.Snapshot != nil || u.Status.Failed != "snapshot: broken too" || !u.Changed {
			t.Errorf("%+v", u)
		}
		if _, err := r.Recording(background); err == nil || !strings.Contains(err.Error(), "broken too") {
			t.Errorf("recording: %v", err)
		}
	})
}

func TestMakeThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := New(Config{Limits: DefaultLimits(), Make: func(string, func(*trace.Event)) (Run, error) { panic("no brokers") }})
		if err == nil || !strings.Contains(err.Error(), "no brokers") {
			t.Errorf("New: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails when a goroutine is left
		r, _ := start(t, nil)
		rd := watch(t, r)
		ended := make(chan error)
		go func() {
			must[Result](t)(r.Pause(background))
			rd.read()
			_ = rd.sub.Ask(background)
			select {
			case <-rd.sub.Updates():
			case <-r.Done():
			}
			ended <- rd.sub.Ask(background)
		}()
		time.Sleep(time.Second)
		r.Close()
		r.Close()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("a subscription ends with %v", err)
		}
		if _, err := r.Play(background); !errors.Is(err, ErrClosed) {
			t.Errorf("play: %v", err)
		}
		if _, err := r.Subscribe(background, 0, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("subscribe: %v", err)
		}
		rd.sub.Close()
	})
}

func TestACallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, nil)
		go func() {
			_, _ = ask(background, r, func(*loop) (int, error) { time.Sleep(time.Minute); return 0, nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background, 5*time.Second)
		defer cancel()
		if _, err := r.Status(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a busy runner: %v", err)
		}
		time.Sleep(2 * time.Minute)
		must[Status](t)(r.Status(background))
	})
}

func TestReaderThatOnlyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, nil)
		rd := watch(t, r)
		must[Result](t)(r.SetSpeed(background, 20))
		for rd.events() < 5000 {
			rd.read()
		}
	})
}
