// The socket: requests out, frames in, and a connection that comes back by itself
// and goes on where it was.

import type { Event, Micros, Snapshot } from "./state";

export interface Status { playing: boolean; speed: number; time: Micros; seq: number; failed: string; full: boolean }
export interface Hello { cluster: string; run: number; kafka: string; kafkas: string[] }
export interface Result { seq: number; output: string; error: { message: string; column: number } | undefined }

export type Connection = "connecting" | "open" | "lost" | "closed";

export interface Listener {
  connection(state: Connection): void;
  hello(h: Hello): void;
  snapshot(s: Snapshot, status: Status, reason: string): void;
  events(events: Event[], time: Micros): void;
  status(s: Status): void;
}

/** How long to wait before connecting again, in ms: doubles from the first to the last. */
const RETRY_FIRST_MS = 250;
const RETRY_LAST_MS = 8000;

export class Transport {
  private socket: WebSocket | undefined;
  private run = 0;
  private next = 0; // number of the next event; 0 before the first snapshot
  private attempts = 0;
  private lastId = 0;
  private ended = false;
  private readonly waiting = new Map<number, (r: Result) => void>();

  constructor(private readonly path: string, private readonly listener: Listener) {}

  connect(): void {
    if (this.ended) return;
    this.listener.connection(this.attempts === 0 ? "connecting" : "lost");
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    if (this.next > 0) {
      url.searchParams.set("run", String(this.run));
      url.searchParams.set("from", String(this.next - 1));
    }
    const socket = (this.socket = new WebSocket(url));
    socket.addEventListener("message", (m: MessageEvent<string>) => this.receive(m.data));
    socket.addEventListener("close", () => {
      if (this.socket === socket) this.lost();
    });
  }

  /** request sends one and gives its answer. One that cannot be sent is answered with an error at once. */
  request(op: string, fields: Record<string, unknown> = {}): Promise<Result> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        resolve({ seq: 0, output: "", error: { message: "not connected", column: 0 } });
        return;
      }
      this.waiting.set(id, resolve);
      this.socket.send(JSON.stringify({ op, id, ...fields }));
    });
  }

  private receive(data: string): void {
    const f = JSON.parse(data) as Record<string, unknown> & { op: string };
    switch (f.op) {
      case "hello":
        this.attempts = 0;
        if (f["run"] !== this.run) this.next = 0;
        this.run = f["run"] as number;
        this.listener.hello(f as unknown as Hello);
        this.listener.connection("open");
        break;
      case "snapshot": {
        const s = f["snapshot"] as Snapshot;
        this.run = f["run"] as number;
        this.next = s.seq + 1;
        this.listener.snapshot(s, f["status"] as Status, (f["reason"] as string | undefined) ?? "");
        break;
      }
      case "events": {
        if (f["run"] !== this.run || this.next === 0) break;
        let events = f["events"] as Event[];
        const from = f["from"] as number;
        // What a resumed stream repeats is dropped. A gap cannot be mended here: start again.
        if (from < this.next) events = events.filter((e) => e.seq >= this.next);
        else if (from > this.next) {
          this.next = 0;
          this.socket?.close();
          break;
        }
        this.next += events.length;
        this.listener.events(events, f["time"] as Micros);
        break;
      }
      case "status":
        if (f["run"] === this.run) this.listener.status(f["status"] as Status);
        break;
      case "result": {
        const id = f["id"] as number;
        this.waiting.get(id)?.({
          seq: (f["seq"] as number | undefined) ?? 0, output: (f["output"] as string | undefined) ?? "",
          error: f["error"] as Result["error"],
        });
        this.waiting.delete(id);
        break;
      }
      case "closed":
        // A server that shuts down may come back; a cluster that has expired does not.
        if (f["reason"] !== "shutdown") {
          this.ended = true;
          this.listener.connection("closed");
        }
    }
  }

  private lost(): void {
    this.socket = undefined;
    for (const answer of this.waiting.values()) answer({ seq: 0, output: "", error: { message: "connection lost", column: 0 } });
    this.waiting.clear();
    if (this.ended) return;
    this.attempts++;
    this.listener.connection("lost");
    if (this.attempts > 2) void this.stillThere();
    setTimeout(() => this.connect(), retryDelay(this.attempts, Math.random()));
  }

  // A socket does not say why it was refused; the page's own address does.
  private async stillThere(): Promise<void> {
    try {
      const r = await fetch(location.pathname, { cache: "no-store" });
      if (r.status === 404) {
        this.ended = true;
        this.listener.connection("closed");
      }
    } catch {
      // No network: the next attempt will see.
    }
  }
}

/** retryDelay is how long to wait before the n-th new attempt, with a random part of up to half. */
export function retryDelay(attempt: number, random: number): number {
  const full = Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_LAST_MS);
  return full / 2 + (full / 2) * random;
}
