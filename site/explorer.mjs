// The explorer of the compute API at all versions, as static pages of the site.

/** The folder of the explorer in the site. */
export const EXPLORER = 'compute-api';

/** Writes the pages into a folder. */
export async function buildExplorer({ operations, computeApiHistory, computeApiReference, buildStaticSite }, folder) {
  const versions = Object.keys(computeApiHistory);
  const texts = { footer: 'Part of the documentation of Apistrata. Start a server to send requests from these pages.' };
  await buildStaticSite({ ...computeApiReference, operations, versions, texts }, { folder, openapi: 'newest' });
}
