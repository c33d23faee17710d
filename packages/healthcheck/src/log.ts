/** Where warnings go: `console`, a pino logger, anything with these two. */
export interface HealthcheckLog {
  warn(message: string): void;
  error(message: string): void;
}
