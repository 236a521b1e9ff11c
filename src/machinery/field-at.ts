import { asFields, asText, type Fields } from './fields.js';

/** How to read a field by its path, as field selectors compare it: what is absent or no text reads as ''. */
export const fieldAt =
  (...names: string[]) =>
  (object: Fields): string =>
    asText(names.reduce<unknown>((at, name) => asFields(at)[name], object));
