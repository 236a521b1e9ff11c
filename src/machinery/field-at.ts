import { asFields, asText, type Fields } from './fields.js';

/** Returns a function that reads a field by its path for field selectors: '' if the field is absent or not a string. */
export const fieldAt =
  (...names: string[]) =>
  (object: Fields): string =>
    asText(names.reduce<unknown>((at, name) => asFields(at)[name], object));
