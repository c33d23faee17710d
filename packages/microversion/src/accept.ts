/** One range of an `Accept` header, such as `text/html;q=0.5`. Parameters other than the quality are ignored. */
interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

const QUALITY = /^q\s*=\s*(.*)$/;

/** Parses the media ranges of an `Accept` header. Returns undefined if one of them is malformed. */
function parseMediaRanges(accept: string): readonly MediaRange[] | undefined {
  const ranges: MediaRange[] = [];
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((chunk) => chunk.trim());
    const qualityText = parameters.map((parameter) => QUALITY.exec(parameter)?.[1]).find((text) => text !== undefined);
    const quality = qualityText === undefined ? 1 : Number(qualityText);
    if (!/^[^\s/]+\/[^\s/]+$/.test(type) || !(quality >= 0 && quality <= 1)) return undefined;
    ranges.push({ type, quality });
  }
  return ranges;
}

/**
 * Returns whether a client accepts a media type such as `application/json`. The most specific matching range applies;
 * a quality of 0 excludes it. A missing, empty or malformed `Accept` header accepts everything.
 */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  const ranges = accept?.trim() ? parseMediaRanges(accept) : undefined;
  if (!ranges) return true;
  const mostSpecificFirst = [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*'];
  for (const range of mostSpecificFirst) {
    const matching = ranges.filter(({ type }) => type === range);
    if (matching.length > 0) return matching.some(({ quality }) => quality > 0);
  }
  return false;
}
