import { re2Engine } from '../../cel/re2-engine.js';

/** The engine of all rules, which keeps recently used patterns. */
export const regexEngine = re2Engine();
