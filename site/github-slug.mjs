/** Returns the anchor of a heading as GitHub forms it, so that links inside pages lead to the same place on both. */
export function githubSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
