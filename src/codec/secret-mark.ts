import { systemRng } from '../std/rng.js';

/**
 * What a text is marked with while it is read or written. No client ever sees it, so that none can send it: looking for
 * one that stands nowhere would let whoever fills a body with marks decide how long that takes.
 */
export const secretMark = (what: string): string => `@${what}:${systemRng.uuid()}:`;
