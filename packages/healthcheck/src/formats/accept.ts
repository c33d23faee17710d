/** The media types of responses. If a client prefers several equally, the first one is used. */
const MEDIA_TYPES = ['text/plain', 'text/html', 'application/json'] as const;

/** Offered only if responses contain check names, because this format requires them. */
const HEALTH_JSON = 'application/health+json';

export type MediaType = (typeof MEDIA_TYPES)[number] | typeof HEALTH_JSON;

interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Whether there are parameters other than the quality, such as `charset=utf-8`. */
  readonly hasParameters: boolean;
  readonly quality: number;
}

const DEFAULT_TYPE: MediaType = 'text/plain';

/**
 * Returns the media type of a response: the one to which the `Accept` header assigns the highest quality, or the first
 * of several with that quality. If the header is malformed or excludes all types, returns plain text, because this
 * header must not make a probe fail.
 */
export function acceptedType(accept: string | undefined, offersHealthJson = false): MediaType {
  if (!accept || accept === '*/*') return DEFAULT_TYPE;
  const ranges = parseAccept(accept);
  if (!ranges) return DEFAULT_TYPE;
  let best: MediaType = DEFAULT_TYPE;
  let bestQuality = 0;
  for (const offer of offersHealthJson ? ([...MEDIA_TYPES, HEALTH_JSON] as const) : MEDIA_TYPES) {
    const quality = qualityOf(offer, ranges);
    if (quality > bestQuality) [best, bestQuality] = [offer, quality];
  }
  return best;
}

/**
 * Returns the quality of the most specific media range that matches an offered type, or of the first one if several are
 * equally specific.
 */
function qualityOf(offer: MediaType, ranges: readonly MediaRange[]): number {
  let quality = 0;
  let specificity = 0;
  for (const range of ranges) {
    const found = specificityFor(offer, range);
    if (found > specificity) [quality, specificity] = [range.quality, found];
  }
  return quality;
}

/**
 * Returns how specifically a media range matches: 3 for the exact type, 2 for all of its subtypes, 1 for all types, 0
 * for no match.
 */
function specificityFor(offer: MediaType, range: MediaRange): number {
  if (`${range.type}/${range.subtype}` === offer) return range.hasParameters ? 0 : 3;
  if (range.subtype !== '*') return 0;
  if (range.type === '*') return 1;
  return offer.startsWith(`${range.type}/`) ? 2 : 0;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED_STRING = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"';
const RANGE = new RegExp(`(${TOKEN})/(${TOKEN})`, 'y');
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})(?:=(${TOKEN}|${QUOTED_STRING}))?`, 'y');
const SEPARATOR = /[ \t]*(?:,[ \t]*)+|[ \t]*$/y;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Parses the media ranges of an `Accept` header in linear time. Returns undefined if any part is malformed. */
function parseAccept(text: string): readonly MediaRange[] | undefined {
  const ranges: MediaRange[] = [];
  let position = match(/[ \t]*(?:,[ \t]*)*/y, text, 0)?.end ?? 0;
  while (position < text.length) {
    const range = match(RANGE, text, position);
    if (!range) return undefined;
    position = range.end;
    let quality: number | undefined;
    let hasParameters = false;
    for (let parameter = match(PARAMETER, text, position); parameter; parameter = match(PARAMETER, text, position)) {
      position = parameter.end;
      const [name = '', value] = parameter.groups;
      if (quality !== undefined) continue;
      if (name.toLowerCase() !== 'q') {
        if (value === undefined) return undefined;
        hasParameters = true;
      } else if (value !== undefined && QUALITY.test(value)) quality = Number(value);
      else return undefined;
    }
    const [type = '', subtype = ''] = range.groups;
    ranges.push({ type: type.toLowerCase(), subtype: subtype.toLowerCase(), hasParameters, quality: quality ?? 1 });
    const separator = match(SEPARATOR, text, position);
    if (!separator) return undefined;
    position = separator.end;
  }
  return ranges;
}

interface Match {
  readonly groups: readonly (string | undefined)[];
  readonly end: number;
}

function match(pattern: RegExp, text: string, start: number): Match | undefined {
  pattern.lastIndex = start;
  const found = pattern.exec(text);
  return found ? { groups: found.slice(1), end: start + found[0].length } : undefined;
}
