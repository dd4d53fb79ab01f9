/** The kinds of faults that the client names and that say nothing of the work: a limit of the
 * account, or a service that cannot keep up. */
const KINDS = ["rate_limit", "billing_error", "overloaded", "overloaded_error"];

/** How the client words them. */
const WORDS = new RegExp(
  [
    String.raw`\b(429|529)\b`,
    "overloaded",
    String.raw`\b(rate|usage|session|weekly|daily|monthly|hourly|spend(ing)?|opus|sonnet|account|plan|\d+-hour)\s+limit`,
    String.raw`hit your (\w+ )?limit`,
    "limit (reached|exceeded)",
    "credit balance",
    String.raw`\bbilling\b`,
    "out of (extra )?(usage|credits?)",
    "insufficient (credits?|quota|funds)",
    "quota (exceeded|reached)",
  ].join("|"),
  "i",
);

/** Did a limit of the account, or a service that cannot keep up, end a worker?
 * @param error what the client calls it
 * @param said what it says of it
 * @param now milliseconds since 1970
 * @returns when that is over, where it is told; null where it was no limit */
export function limitIn(
  error: string,
  said: string,
  now: number,
): { until: number | undefined } | null {
  if (!KINDS.includes(error) && !WORDS.test(said)) return null;
  return { until: resetIn(said, now) };
}

const DAY = 24 * 60;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const WEEKDAYS = "sun mon tue wed thu fri sat".split(" ");
const RESET = /\b(?:resets?|try again|available again|until)\b(?: (?:at|on|in))?:? ([^\n]*)/i;

/** The time at which a limit ends, as the client tells it: seconds since 1970 behind a bar, a clock
 * («resets 3pm (Europe/Berlin)»), with a day («resets Dec 4, 9:30am»), or how long («in 45 minutes»). */
function resetIn(said: string, now: number): number | undefined {
  const [, stamp] = /\|(\d{10})\b/.exec(said) ?? [];
  if (stamp) return Number(stamp) * 1000;
  const [, when = ""] = RESET.exec(said) ?? [];
  const [, count, unit = ""] = /^(\d+) ?(m|h|d)[a-z]*\b(?! ?\()/i.exec(when) ?? [];
  if (count && !/^\d+ ?[ap]m/i.test(when)) return now + Number(count) * minutesOf(unit) * 60_000;
  const [, iso] = /(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))/.exec(when) ?? [];
  if (iso) return Date.parse(iso) || undefined;
  const clock = clockIn(when);
  return clock && nextTime(now, clock, dayIn(when), zoneIn(when));
}

const minutesOf = (unit: string): number => ({ m: 1, h: 60, d: DAY })[unit.toLowerCase()] ?? 1;

type Clock = Readonly<{ minutes: number }>;

/** «3pm», «3:30 pm», «15:30». */
function clockIn(text: string): Clock | undefined {
  const [, hour = "", minute = "0", half = ""] =
    /\b(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b/i.exec(text) ?? /\b(\d{1,2}):(\d\d)\b/.exec(text) ?? [];
  if (hour === "") return undefined;
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0) : Number(hour);
  return { minutes: hours * 60 + Number(minute) };
}

/** Is it this day? By what the text says of it; any day where it says nothing. */
type IsDay = (month: number, day: number, weekday: number) => boolean;

function dayIn(text: string): IsDay {
  const words = text.toLowerCase();
  const [, name = "", date = ""] =
    new RegExp(`\\b(${MONTHS.join("|")})[a-z]*\\.? (\\d{1,2})\\b`).exec(words) ?? [];
  if (name) return (month, day) => month === MONTHS.indexOf(name) && day === Number(date);
  const [weekday = ""] = new RegExp(`\\b(${WEEKDAYS.join("|")})`).exec(words) ?? [];
  return (_, __, at) => weekday === "" || at === WEEKDAYS.indexOf(weekday);
}

const zoneIn = (text: string): string | undefined =>
  /\(([A-Za-z_]+(?:\/[\w+-]+)*)\)/.exec(text)?.[1];

/** The next time at which a clock shows that, on such a day, in a zone; this machine's where none
 * is known. */
function nextTime(now: number, { minutes }: Clock, isDay: IsDay, zone?: string) {
  const shown = shownIn(zone);
  const ahead = (minutes - shown(now).minutes + DAY) % DAY || DAY;
  const first = Math.floor(now / 60_000) * 60_000 + ahead * 60_000;
  for (let days = 0; days < 367; days++) {
    const at = first + days * DAY * 60_000;
    const { month, day, weekday } = shown(at);
    if (isDay(month, day, weekday)) return at;
  }
  return undefined;
}

/** What calendar and clock show at a time in a zone. */
function shownIn(zone: string | undefined) {
  const how = { hourCycle: "h23", month: "numeric", day: "numeric", weekday: "short" } as const;
  const make = (timeZone?: string) =>
    new Intl.DateTimeFormat("en-US", { ...how, hour: "numeric", minute: "numeric", timeZone });
  let format = make();
  try {
    format = make(zone);
  } catch {} // A zone that nobody knows
  return (at: number) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, value]),
    );
    return {
      minutes: Number(parts.hour) * 60 + Number(parts.minute),
      month: Number(parts.month) - 1,
      day: Number(parts.day),
      weekday: WEEKDAYS.indexOf((parts.weekday ?? "").toLowerCase()),
    };
  };
}
