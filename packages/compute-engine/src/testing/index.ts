export { type Population, populateServers } from './populate-servers.js';
