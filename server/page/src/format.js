// Numbers and times as people read them.

const whole = new Intl.NumberFormat('en-US');
const day = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
});
const second = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
});
const minute = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
});

export const count = (n) => whole.format(n);
export const percent = (share) => (share * 100).toFixed(1) + ' %';
export const score = (s) => (s === undefined || s === null ? '' : s.toFixed(3));
export const signed = (n) => (n > 0 ? '+' : n < 0 ? '−' : '±') + whole.format(Math.abs(n));
export const several = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

/** Bytes of a file. */
export const sizeOf = (n) =>
    n < 1024
        ? several(n, 'byte')
        : n < 1 << 20
          ? `${Math.round(n / 1024)} KB`
          : `${(n / (1 << 20)).toFixed(1)} MB`;

export function seconds(s) {
    if (s < 10) return s.toFixed(1) + ' s';
    if (s < 120) return Math.round(s) + ' s';
    return s < 7200 ? Math.round(s / 60) + ' min' : (s / 3600).toFixed(1) + ' h';
}

/** A moment of the server: milliseconds or ISO 8601, in the reader's zone. */
export const moment = (t) => minute.format(new Date(t));

/** What tells builds apart: the minute, and the second where two were made in one. */
export function momentAmong(t, all) {
    const twice = all.filter((x) => moment(x) === moment(t)).length > 1;
    return twice ? second.format(new Date(t)) : moment(t);
}

/** A document's time: seconds or milliseconds since 1970, else as its record has it. */
export function documentTime(t) {
    if (typeof t !== 'number') return String(t);
    const date = new Date(Math.abs(t) < 1e11 ? t * 1000 : t);
    return Number.isNaN(date.getTime()) ? String(t) : day.format(date);
}

/** "3 hours ago" */
export function ago(t, now = Date.now()) {
    const s = Math.max(0, (now - new Date(t).getTime()) / 1000);
    const [n, unit] =
        s < 60
            ? [0, '']
            : s < 3600
              ? [s / 60, 'minute']
              : s < 86400
                ? [s / 3600, 'hour']
                : [s / 86400, 'day'];
    return unit ? several(Math.floor(n), unit) + ' ago' : 'just now';
}

/** "2013-08" -> "Aug 2013", "2013-08-14T09" -> "14 Aug, 09:00"; the others stay as they are. */
export function period(p) {
    const [, year, month, , date, , hour] = /^(\d{4})-(\d\d)(-(\d\d)(T(\d\d))?)?$/.exec(p) ?? [];
    if (!year || (date && !hour)) return p;
    const form = hour ? { day: 'numeric', month: 'short' } : { month: 'short', year: 'numeric' };
    const words = new Date(Date.UTC(+year, +month - 1, +(date ?? 1))).toLocaleString(
        hour ? 'en-GB' : 'en-US',
        { ...form, timeZone: 'UTC' },
    );
    return hour ? `${words}, ${hour}:00` : words;
}
