/** A constant message and pairs. The composition root hands in the real one; libraries below it know only this. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** As `-v` says it, where it can be changed while the server runs. */
  setVerbosity?(verbosity: number): void;
}

const nothing = () => undefined;
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
