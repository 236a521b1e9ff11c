import { systemRng } from './rng.js';

/**
 * Returns a secret mark for strings that are replaced while a text is parsed or written. It is random, so that no
 * client can send it; searching for an unused mark instead would take as long as the marks in a body demand.
 */
export const secretMark = (what: string): string => `@${what}:${systemRng.uuid()}:`;
