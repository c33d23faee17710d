/** What a typed header says for a service: the items go from last to first, the first of our service type counts. */
export function typedVersionIn(text: string, service: string): string | undefined {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const item = text.slice(comma + 1, end).trim();
    const blank = item.search(/[ \t]/);
    // An item of one word (a bare version, or a service alone) says nothing.
    if (blank > 0 && item.slice(0, blank).toLowerCase() === service) return item.slice(blank).trim();
    end = comma;
  }
  return undefined;
}

/** What a bare header says: the text behind the last comma, which may be empty. */
export function bareVersionIn(text: string): string {
  return text.slice(text.lastIndexOf(',') + 1).trim();
}
