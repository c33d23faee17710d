const QUALITY = /^q\s*=\s*(.*)$/i;
/** The ranges that JSON lies in, from the widest to the one that says most. */
const RANGES = ['*/*', 'application/*', 'application/json'];

/**
 * Whether a client takes JSON: no `Accept`, an empty or malformed one, `application/json` or a wildcard, unless the
 * most exact of them has quality 0.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  let exactness = -1;
  let weight = 0;
  for (const part of accept.toLowerCase().split(',')) {
    const [range, ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = parameters.map((parameter) => QUALITY.exec(parameter)?.[1]).find((value) => value !== undefined);
    const partWeight = quality === undefined ? 1 : Number(quality);
    // One bad part spoils the header: then the client has no preference.
    if (!/^[^\s/]+\/[^\s/]+$/.test(range!) || !(partWeight >= 0 && partWeight <= 1)) return true;
    const found = RANGES.indexOf(range!);
    if (found > exactness) [exactness, weight] = [found, partWeight];
    else if (found === exactness && found >= 0) weight = Math.max(weight, partWeight);
  }
  return weight > 0;
}
