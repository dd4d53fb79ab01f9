import type { Event, NewEvent } from "../../../rails/journal/events.ts";
import { Journal } from "../../../rails/journal/journal.ts";
import type { RunState } from "../../../rails/journal/state.ts";

/** A journal that is in no file. */
export class MemoryJournal extends Journal {
  private readonly events: Event[] = [];
  private known: Promise<RunState> | null = null;

  override async read() {
    return { events: [...this.events], bad: [] };
  }

  /** Folded once for the same events: nobody changes a state. */
  override state(): Promise<RunState> {
    this.known ??= super.state();
    return this.known;
  }

  override async decide<T>(
    decide: (state: RunState, write: (event: NewEvent) => void) => Promise<T> | T,
  ): Promise<T> {
    const written: NewEvent[] = [];
    const result = await decide(await this.state(), (event) => void written.push(event));
    await this.add(...written);
    return result;
  }

  override async add(...events: NewEvent[]): Promise<void> {
    const at = Date.now();
    this.known = null;
    this.events.push(...events.map((event) => ({ at, ...event }) as Event));
  }
}
