import { pino, type DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/** Bytes of lines that wait to be written; later lines are lost. */
const waitingMax = 4 * 1024 * 1024;
/** The process waits for a busy reader at its exit for so many pauses of 100 ms. */
const pausesAtExit = 10;

/**
 * Writes log lines without waiting for them. Lines that cannot be written, because their reader has gone or the disk is full, are
 * tried again with the next line. They keep the process neither from serving nor from its exit.
 */
export function logDestination(fd: number, maxLength = waitingMax): DestinationStream {
  let isExiting = false;
  let pauses = 0;
  let lost = 0;
  const stream = new sonicBoom.SonicBoom({
    ...{ fd, sync: false, maxLength },
    retryEAGAIN: () => !isExiting || pauses++ < pausesAtExit,
  });
  stream.on('error', () => undefined);
  stream.on('drop', () => lost++);
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  stream.on('drain', () => {
    if (lost === 0) return;
    const lines = lost;
    lost = 0;
    log.warn({ lines }, 'lost log lines, which could not be written in time');
  });
  process.on('exit', () => {
    isExiting = true;
    try {
      stream.flushSync();
    } catch {
      // Drops what is left, since nobody can read it.
    }
  });
  return stream;
}

let stderr: DestinationStream | undefined;

/** Returns the destination of all loggers of the process. */
export function stderrDestination(): DestinationStream {
  return (stderr ??= logDestination(2));
}
