import { MacroError } from '../syntax/macros.js';
import type { Library } from './library.js';

/** cel.bind(name, value, body): a variable that is computed when the body needs it, and once. */
export const bindingsLibrary: Library = {
  name: 'cel.lib.ext.cel.bindings',
  macros: [
    {
      name: 'bind',
      argCount: 3,
      isMember: true,
      expand: (factory, target, [name, value, body]) => {
        if (target.kind !== 'ident' || target.name !== 'cel') return undefined;
        if (name!.kind !== 'ident')
          throw new MacroError(name!.id, 'cel.bind() variable names must be simple identifiers');
        return factory.bind(name!.name, value!, body!);
      },
    },
  ],
};
