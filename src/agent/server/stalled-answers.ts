import { cutAnswer } from '../../connections/cut.js';
import { isHttp2Response, type AnyResponse } from '../../connections/raw-messages.js';
import { every, type Clock, type Timer } from '../../std/clock.js';

interface Progress {
  /** Bytes that wait for the client. */
  waiting: number;
  /** Checks in a row without a change. */
  checks: number;
}

/** Checks in the time after which an answer is cut. Not the time itself: a pause of this process is not the client's. */
const checksMax = 8;

/** Cuts answers whose clients do not read them: each holds a file, a log or a stream of the runtime open. */
export class StalledAnswers {
  private readonly answers = new Map<AnyResponse, Progress>();
  private readonly checking: Timer;

  constructor(timeoutMs: number, clock: Clock) {
    this.checking = every(clock, timeoutMs / checksMax, () => this.check());
  }

  /** Watches an answer until it is closed. An answer without bytes to send, such as a followed log, is never cut. */
  watch(response: AnyResponse): void {
    const progress: Progress = { waiting: 0, checks: 0 };
    this.answers.set(response, progress);
    // Between two checks as many bytes may be written as were read.
    (response as NodeJS.WritableStream).on('drain', () => (progress.checks = 0));
    response.once('close', () => this.answers.delete(response));
  }

  close(): void {
    this.checking.cancel();
  }

  private check(): void {
    for (const [response, progress] of this.answers) {
      const waiting = waitingBytes(response);
      if (waiting === 0 || waiting !== progress.waiting) {
        progress.waiting = waiting;
        progress.checks = 0;
      } else if (++progress.checks >= checksMax) cutAnswer(response);
    }
  }
}

function waitingBytes(response: AnyResponse): number {
  return isHttp2Response(response) ? response.stream.writableLength : response.writableLength;
}
