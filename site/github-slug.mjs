/** Returns the anchor that GitHub generates for a heading, so that links to headings work on GitHub and on the site. */
export function githubSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
