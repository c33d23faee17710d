import { rowsOf } from './results.mjs';

/** Units in which more is better; in all others less is better. */
const RATE = /\/s$/;

/** The usual spread between two runs of the same code, for rows that do not state their spread. */
const USUAL_SPREAD = 0.1;

const spread = ({ median, low, high }) => (low === undefined ? USUAL_SPREAD : (high - low) / median);

/**
 * Compares two results files. Returns a sentence for each row that is slower or larger by more than the spread of both
 * files. If both rows have a baseline, their ratios to the baseline are compared, because other load does not change
 * ratios. Rows that only one file has are omitted.
 */
export function slower(before, after) {
  const former = rowsOf(before);
  return [...rowsOf(after)].flatMap(([what, row]) => {
    const formerRow = former.get(what);
    if (!formerRow || formerRow.unit !== row.unit) return [];
    const compared = formerRow.ratio && row.ratio ? 'ratio' : 'ours';
    const [old, now] = [formerRow[compared], row[compared]];
    if (!(old?.median > 0) || !(now?.median > 0)) return [];
    const factor = RATE.test(row.unit) ? old.median / now.median : now.median / old.median;
    const allowed = 1 + spread(old) + spread(now);
    if (factor <= allowed) return [];
    const unit = compared === 'ratio' ? 'x of its baseline' : row.unit;
    return [
      `${what}: ${old.median} -> ${now.median} ${unit}, ${factor.toFixed(2)} x (up to ${allowed.toFixed(2)} x is spread)`,
    ];
  });
}
