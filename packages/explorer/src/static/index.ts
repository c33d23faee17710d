export { buildStaticSite, type StaticSiteOptions } from './static-site.js';
