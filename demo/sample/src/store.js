/**
 * The log, in memory: it only ever grows. What goes in is frozen, so that nobody changes it later by accident.
 * @param {{now?: () => Date}} [options]
 */
export function createStore({ now = () => new Date() } = {}) {
  const events = [];
  return {
    get size() {
      return events.length;
    },
    /** Adds an event and returns it with its `id` (from 1, without gaps) and the time at which it was recorded. */
    append(event) {
      const entry = Object.freeze({
        ...event,
        id: events.length + 1,
        recordedAt: now().toISOString(),
      });
      events.push(entry);
      return entry;
    },
    /** The events for which `matches` holds, oldest first. */
    list(matches = () => true) {
      return events.filter(matches);
    },
  };
}
