const HTML_ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
};

/** Converts a Markdown or HTML description to plain text with code between backticks, which the pages can render. */
export function plainText(description: unknown): string | undefined {
  if (typeof description !== 'string' || description.trim() === '') return undefined;
  let text = description;
  if (/<\/?[a-z][^<>]*>/i.test(text))
    text = text
      .replace(/<\/?code>/gi, '`')
      .replace(/<\/(?:p|li|ul|ol|h\d)>|<br\s*\/?>/gi, '\n')
      .replace(/<\/?[a-z][^<>]*>/gi, '')
      .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (entity, name: string) => HTML_ENTITIES[name] ?? entity);
  return text
    .replace(/!?\[([^\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .trim();
}

/** Maximum length of a title, in characters. */
const MAX_TITLE_LENGTH = 80;

/**
 * If a description is one short sentence, returns it as the title of an operation without a summary. Otherwise, returns
 * undefined.
 */
export function titleFromDescription(description: unknown): string | undefined {
  const text = plainText(description)?.replace(/\.$/, '');
  if (text === undefined || text.length > MAX_TITLE_LENGTH || /[.:\n]/.test(text)) return undefined;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
