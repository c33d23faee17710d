/** Names under which every answer tells its request's id. */
export const REQUEST_ID_HEADERS = ['X-Compute-Request-ID', 'X-OpenStack-Request-ID', 'X-Service-Request-ID'];
