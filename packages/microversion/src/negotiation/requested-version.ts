/** Returns the version for a service type in a typed header. If several items have that service type, the last one applies. */
export function typedVersionIn(text: string, service: string): string | undefined {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const item = text.slice(comma + 1, end).trim();
    const separatorIndex = item.search(/[ \t]/);
    // Items that consist of one word (only a version, or only a service type) are ignored.
    if (separatorIndex > 0 && item.slice(0, separatorIndex).toLowerCase() === service)
      return item.slice(separatorIndex).trim();
    end = comma;
  }
  return undefined;
}

/** Returns the version in a header without service types: the text after the last comma, which may be empty. */
export function bareVersionIn(text: string): string {
  return text.slice(text.lastIndexOf(',') + 1).trim();
}
