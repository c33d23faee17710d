/** One range of an `Accept` header: `text/html;q=0.5`. Parameters other than the quality are kept as they are. */
interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

const QUALITY = /^q\s*=\s*(.*)$/;

/** The media ranges of an `Accept` header; undefined where one is malformed, which spoils them all. */
function rangesIn(accept: string): readonly MediaRange[] | undefined {
  const ranges: MediaRange[] = [];
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const given = parameters.map((parameter) => QUALITY.exec(parameter)?.[1]).find((text) => text !== undefined);
    const quality = given === undefined ? 1 : Number(given);
    if (!/^[^\s/]+\/[^\s/]+$/.test(type) || !(quality >= 0 && quality <= 1)) return undefined;
    ranges.push({ type, quality });
  }
  return ranges;
}

/**
 * Whether a client takes a media type, `application/json`. The most exact range that holds the type decides, and quality
 * 0 excludes. No `Accept`, an empty one and a malformed one say nothing: everything is taken.
 */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  const ranges = accept?.trim() ? rangesIn(accept) : undefined;
  if (!ranges) return true;
  const forms = [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*'];
  for (const form of forms) {
    const matching = ranges.filter(({ type }) => type === form);
    if (matching.length > 0) return matching.some(({ quality }) => quality > 0);
  }
  return false;
}
