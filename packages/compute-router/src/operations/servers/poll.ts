/** The beginning of the sentence that describes how clients wait for an asynchronous action. */
export const POLL_SERVER_UNTIL = 'The action is asynchronous. Poll the server until';
