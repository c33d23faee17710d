/** Response headers that contain the request id. */
export const REQUEST_ID_HEADERS = ['X-Compute-Request-ID', 'X-OpenStack-Request-ID', 'X-Service-Request-ID'];
