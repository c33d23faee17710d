import type { Fault } from '../../src/index.js';

/** Sends the status and the message of an error as text. */
export const sendMessage: Fault = (error: any, _req, res) => {
  res.statusCode = error.status ?? 500;
  res.end(error.message);
};
