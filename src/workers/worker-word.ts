/** The word after the program that makes it a worker of the process that has started it. */
export const workerWord = 'worker-process';
