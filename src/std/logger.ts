/** Logs constant messages with fields. The composition root provides the implementation. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** Sets the verbosity (`-v`), if it can be changed at run time. */
  setVerbosity?(verbosity: number): void;
}

const nothing = () => undefined;
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
