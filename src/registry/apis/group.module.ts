import type { DynamicModule, Type } from '@nestjs/common';

/** Returns the Nest module of an API group whose class is its only provider. */
export function groupModule<G extends object>(group: Type<G>, make: () => G = () => new group()): DynamicModule {
  const name = group.name.replace(/Group$/, 'Module');
  // Nest tells modules apart by their class.
  const module = { [name]: class {} }[name]!;
  return { module, providers: [{ provide: group, useFactory: make }] };
}
