/** The start of the sentence that says how to follow an asynchronous action. */
export const POLL = 'Asynchronous: poll the server until';
