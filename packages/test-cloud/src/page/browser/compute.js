import { requestJson } from './server-data.js';

const { compute: address, version: newest } = document.documentElement.dataset;

/** The visitor's token. Only this module stores it, until the page is closed. */
let token = '';

export function useToken(next) {
  token = next;
}

/** Returns the headers that authenticate a request of the visitor. */
export const credentials = () => ({ 'X-Auth-Token': token });

const minor = (version) => Number(version.split('.')[1]);

/** Returns a version, or the newest version of the server if that is lower. */
export const upTo = (version) => (minor(newest) < minor(version) ? newest : version);

/** Returns whether the server supports a version. */
export const has = (version) => minor(newest) >= minor(version);

/**
 * Sends a request to the compute API.
 *
 * @param {string} method
 * @param {string} path the path below the URL of the API
 * @param {unknown} [body]
 * @param {string} [version] default: 2.1, which every server has
 */
export function compute(method, path, body, version = '2.1') {
  return requestJson(method, `${address}${path}`, body, {
    ...credentials(),
    'OpenStack-API-Version': `compute ${version}`,
  });
}
