// The parts that all diagrams share: colors for light and dark pages, and text.

const STYLE = `.ground{fill:#f6f8fa;stroke:#dfe4ea}.box{fill:#fff;stroke:#c3ccd6}text{fill:#1a2230;font:500 13px system-ui,sans-serif}.soft{fill:#566273;font-weight:400;font-size:12px}.lane{fill:none;stroke:#dfe4ea}.way{fill:none;stroke:#8b97a6}.line{fill:none;stroke:#5450dc;stroke-width:1.5}.tip{fill:#5450dc}.same{fill:none;stroke:#5450dc;stroke-width:1.5}@media (prefers-color-scheme:dark){.ground{fill:#171b22;stroke:#2b323d}.box{fill:#0f1217;stroke:#414b59}text{fill:#e6eaf0}.soft{fill:#9ba7b7}.lane{stroke:#2b323d}.way{stroke:#6b7787}.line{stroke:#a5a8ff}.tip{fill:#a5a8ff}.same{stroke:#a5a8ff}}`;

const escaped = (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns a line of text, anchored at its start, its middle or its end. */
export function text(x, y, value, anchor, name) {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${name ? ` class="${name}"` : ''}>${escaped(value)}</text>`;
}

/** Returns an SVG image whose colors are readable on light and dark pages. */
export function svg(width, height, title, parts, margin = 8) {
  const [outer, tall] = [width + 2 * margin, height + 2 * margin];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${outer}" height="${tall}" viewBox="${-margin} ${-margin} ${outer} ${tall}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${STYLE}</style>
<rect class="ground" x="${0.5 - margin}" y="${0.5 - margin}" width="${outer - 1}" height="${tall - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`;
}
