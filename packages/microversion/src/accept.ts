/** One range of an `Accept` header, such as `text/html;q=0.5`. Parameters other than the quality are ignored. */
interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

const QUALITY_PARAMETER = /^q\s*=(.*)/;

/** Parses the media ranges of an `Accept` header. Returns undefined if one of them is malformed. */
function parseMediaRanges(accept: string): readonly MediaRange[] | undefined {
  const ranges: MediaRange[] = [];
  // Quoted parameter values may contain separators. A value without a closing quote extends to the end of the header.
  const withoutQuotedValues = accept.toLowerCase().replace(/"(\\?.)*?("|$)/g, '"');
  for (const part of withoutQuotedValues.split(',')) {
    const [type, ...parameters] = part.split(';').map((chunk) => chunk.trim()) as [string, ...string[]];
    const [qualityText = 1] = parameters.flatMap((parameter) => QUALITY_PARAMETER.exec(parameter)?.[1] ?? []);
    const quality = Number(qualityText);
    if (!/^[^\s/]+\/[^\s/]+$/.test(type) || !(quality >= 0) || quality > 1) return undefined;
    ranges.push({ type, quality });
  }
  return ranges;
}

/**
 * Returns whether a client accepts a media type such as `application/json`. The most specific media range that matches
 * decides; a quality of 0 excludes the type. A missing, empty or malformed `Accept` header accepts every type.
 */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  const ranges = accept?.trim() && parseMediaRanges(accept);
  if (!ranges) return true;
  const mostSpecificFirst = [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*'];
  const decidingRange = mostSpecificFirst.find((range) => ranges.some(({ type }) => type === range));
  return ranges.some(({ type, quality }) => type === decidingRange && quality > 0);
}
