// Cron expressions without a clock: five fields with lists, ranges and steps, and their next times in UTC.
// tier: strict

const bounds = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]];

function field(text, [lowest, highest]) {
  const out = new Set();
  for (const part of text.split(",")) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    if (!match) throw new SyntaxError(`${part} is no field of cron`);
    const [, from, to, step] = match;
    const last = Number(to ?? (from === undefined || step ? highest : from));
    for (let n = Number(from ?? lowest); n <= last; n += Number(step ?? 1)) out.add(n);
  }
  if ([...out].some((n) => n < lowest || n > highest)) throw new RangeError(`${text} is not within ${lowest} to ${highest}`);
  return out;
}

function upcoming(cron, after, count) {
  const fields = cron.split(" ");
  const [minutes, hours, days, months, weekdays] = fields.map((text, i) => field(text, bounds[i]));
  const out = [];
  const at = new Date(after);
  at.setUTCSeconds(0, 0);
  for (let i = 0; i < 366 * 24 * 60 && out.length < count; i++) {
    at.setUTCMinutes(at.getUTCMinutes() + 1);
    const day = days.has(at.getUTCDate());
    const weekday = weekdays.has(at.getUTCDay());
    const either = fields[2] !== "*" && fields[4] !== "*" ? day || weekday : day && weekday;
    if (minutes.has(at.getUTCMinutes()) && hours.has(at.getUTCHours()) && months.has(at.getUTCMonth() + 1) && either) out.push(at.toISOString());
  }
  return out;
}

export default ({ after, crons }) => Object.fromEntries(crons.map((cron) => {
  try {
    return [cron, upcoming(cron, after, 3)];
  } catch (e) {
    console.error(`${cron}: ${e.message}`);
    return [cron, []];
  }
}));
