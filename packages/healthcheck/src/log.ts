/** The logger for warnings and errors: `console`, a pino logger, or any object with these two methods. */
export interface HealthcheckLog {
  warn(message: string): void;
  error(message: string): void;
}
