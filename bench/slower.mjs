import { rowsOf } from './results.mjs';

/** Units of which more is better; of all others less is. */
const RATE = /\/s$/;

/** What figures of two runs are apart when nothing has changed, where a row does not say it. */
const USUAL_SPREAD = 0.1;

const spread = ({ median, low, high }) => (low === undefined ? USUAL_SPREAD : (high - low) / median);

/**
 * What has become slower (or larger) from one file of results to another by more than the spread of both, as sentences.
 * Where both runs had something to compare with, their ratios are compared, which a busier machine leaves as they were.
 * Rows that only one of them has are left out.
 */
export function slower(before, after) {
  const former = rowsOf(before);
  return [...rowsOf(after)].flatMap(([what, row]) => {
    const was = former.get(what);
    if (!was || was.unit !== row.unit) return [];
    const compared = was.ratio && row.ratio ? 'ratio' : 'ours';
    const [old, now] = [was[compared], row[compared]];
    if (!(old?.median > 0) || !(now?.median > 0)) return [];
    const factor = RATE.test(row.unit) ? old.median / now.median : now.median / old.median;
    const allowed = 1 + spread(old) + spread(now);
    if (factor <= allowed) return [];
    const unit = compared === 'ratio' ? 'x of what it is beside' : row.unit;
    return [
      `${what}: ${old.median} -> ${now.median} ${unit}, ${factor.toFixed(2)} x (up to ${allowed.toFixed(2)} x is spread)`,
    ];
  });
}
