/** Names of the page colors for backgrounds, lines, text, links and labels. */
const COLOR_NAMES = [
  'ground',
  'raised',
  'sunk',
  'line',
  'line-strong',
  'text',
  'soft',
  'accent',
  'accent-ground',
  'good',
  'good-ground',
  'warn',
  'warn-ground',
  'bad',
  'bad-ground',
  'info',
  'info-ground',
] as const;

/** A CSS color, such as `#4a46d6`, `rgb(74 70 214)` or `teal`, or a pair of colors for the light and the dark theme. */
export type ThemeColor = string | { readonly light: string; readonly dark: string };

/** Colors that replace the built-in page colors, by name. */
export type ThemeColors = { readonly [name in (typeof COLOR_NAMES)[number]]?: ThemeColor };

/** An image that replaces the logo in the header. */
export interface Logo {
  /** Media type: `image/svg+xml`, `image/png`, `image/jpeg` or `image/webp`. */
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** File extensions of logos, by media type. */
export const LOGO_TYPES: Readonly<Record<string, string>> = {
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

const CSS_COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]+|(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\([\d.,%\s/a-z-]+\))$/i;

/** Throws a TypeError if a color has an unknown name or is not a CSS color, or if the logo's media type is unknown. */
export function checkTheme(colors: ThemeColors | undefined, logo: Logo | undefined): void {
  for (const [name, color] of Object.entries(colors ?? {})) {
    if (!COLOR_NAMES.some((allowed) => allowed === name))
      throw new TypeError(`explorer(): unknown color "${name}" (known colors: ${COLOR_NAMES.join(', ')})`);
    for (const text of typeof color === 'object' ? [color.light, color.dark] : [color])
      if (typeof text !== 'string' || !CSS_COLOR.test(text))
        throw new TypeError(`explorer(): "${text}" is not a color: write ${name} as #4a46d6, rgb(74 70 214) or teal`);
  }
  if (logo && !Object.hasOwn(LOGO_TYPES, logo.type))
    throw new TypeError(`explorer(): the logo has the type "${logo.type}": use ${Object.keys(LOGO_TYPES).join(', ')}`);
}

/** Returns the file name of a logo. */
export function logoName({ type }: Logo): string {
  return `logo.${LOGO_TYPES[type]}`;
}

/** Returns a style sheet that sets the colors. */
export function createThemeCss(colors: ThemeColors): string {
  const rules = Object.entries(colors).map(
    ([name, color]) =>
      `  --${name}: ${typeof color === 'object' ? `light-dark(${color.light}, ${color.dark})` : color};`,
  );
  return `:root {\n${rules.join('\n')}\n}\n`;
}
