// The page's words: what the server says to those who use its command, and figures that mean nothing
// without an explanation.
import { percent } from './format.js';
import { plain } from './text.js';

/* The server speaks of the command's options; here they are fields of a dialog. */
const WORDS = [
    [/; choose with --text\b/, '; choose the column of the text'],
    [/; choose with --id\b/, '; choose the column of the id'],
    [/; say it with --from [^(]*?( \(dir [^)]*\))?$/, '; choose its format'],
    [/--from [a-z|-]+/g, 'the format'],
    [/--dates( [a-z-]+)?( or --dates [a-z-]+)?/g, 'the order of day and month'],
    [/--sheet\b/g, 'the sheet'],
    [/--(text|id|time|lang)\b/g, 'the column of the $1'],
    [/--encoding\b/g, 'the encoding'],
    [/--([a-z]+(-[a-z]+)*)\b/g, '“$1”'],
    [/`?grouperfish config set [^`;,.]*`?/g, 'the settings'],
];

/** A message as the page says it. */
export const inWords = (message) =>
    WORDS.reduce((m, [from, to]) => m.replace(from, to), plain(message));

/* Members whose next centre is at least so similar could as well be there: figures.md, weak fits. */
const NEARLY = 0.8;

/** A word on a document's fit in its cluster, of which the best has a score of `best`. */
export function fit(d, best) {
    if (d.margin !== undefined && d.score > 0 && 1 - d.margin / d.score >= NEARLY)
        return 'could be elsewhere';
    return d.score >= 0.6 * best ? 'fits well' : d.score >= 0.3 * best ? 'fits' : 'fits loosely';
}

/* Two-sided, of a standard normal variable. */
const chance = (z) =>
    [
        [4.4, 'less than once in 100,000 times'],
        [3.9, 'once in 10,000 times'],
        [3.3, 'once in 1,000 times'],
        [2.58, 'once in 100 times'],
        [1.96, 'once in 20 times'],
    ].find(([least]) => Math.abs(z) >= least)?.[1] ?? 'often';

const UNITS = { hour: 'hours', day: 'days', week: 'weeks', month: 'months', quarter: 'quarters', year: 'years' };

/** The reason of a trend's word. */
export function trendReason(row) {
    const span = row.recent_periods === 1 ? `the last ${row.unit}` : `the last ${row.recent_periods} ${UNITS[row.unit] ?? 'periods'}`;
    const times = Math.exp(row.change);
    if (row.trend === 'steady')
        return `Its share of all documents in ${span} is about what it was before.`;
    const grown =
        times >= 1
            ? `${times < 10 ? times.toFixed(1) : Math.round(times)} times what it was before`
            : `${percent(times).replace(/\.\d/, '')} of what it was before`;
    return `Its share of all documents in ${span} is ${grown}. By chance that happens ${chance(row.z)}.`;
}

export const ARROWS = { rising: '↗', falling: '↘', steady: '→' };
