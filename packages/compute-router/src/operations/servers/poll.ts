/** The beginning of the sentence that describes how clients wait for an asynchronous action. */
export const POLL = 'The action is asynchronous. Poll the server until';
