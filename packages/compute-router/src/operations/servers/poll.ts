/** The start of the sentence that describes how to follow an asynchronous action. */
export const POLL = 'Asynchronous: poll the server until';
