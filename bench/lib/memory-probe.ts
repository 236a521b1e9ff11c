import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { workerWord } from '../../src/workers/worker-word.js';

/** Figures of a server's process, which memory-probe.ts sends when it is asked. */
export interface ProbedMemory {
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly mallocedByV8: number;
  /** Pauses of the garbage collector since the last answer, without those of the probe. */
  readonly pausesMs: readonly number[];
}

// Loaded before the server with --import and --expose-gc. `gc` collects garbage before the answer.
const collect = (globalThis as { gc?: () => void }).gc;
let pausesMs: number[] = [];
let isOwn = false;

// Workers inherit the flags of the first process. Their messages are for the server, and must not be taken here.
if (!process.argv.includes(workerWord)) listen();

function listen(): void {
  const observer = new PerformanceObserver((list) => {
    if (isOwn) return;
    for (const { duration } of list.getEntries()) pausesMs.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  process.on('message', (message) => void answer(message as { collects: boolean }));
  // The channel must not keep the process.
  process.channel?.unref();
}

async function answer({ collects }: { readonly collects: boolean }): Promise<void> {
  const pauses = pausesMs;
  pausesMs = [];
  if (collects) {
    isOwn = true;
    // Memory of buffers is released in steps after each collection.
    for (let round = 0; round < 3; round++) {
      collect?.();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    isOwn = false;
  }
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const mallocedByV8 = getHeapStatistics().malloced_memory;
  const answered: ProbedMemory = { heapUsed, heapTotal, external, arrayBuffers, mallocedByV8, pausesMs: pauses };
  process.send?.(answered);
}
