import { Module, type DynamicModule } from '@nestjs/common';
import type { Authorizer } from '../../auth/authorizer.js';
import { AuthorizationGroup } from './authorization.group.js';

@Module({})
export class AuthorizationModule {
  static for({ authorizers }: { readonly authorizers: readonly Authorizer[] }): DynamicModule {
    return {
      module: AuthorizationModule,
      providers: [{ provide: AuthorizationGroup, useFactory: () => new AuthorizationGroup(authorizers) }],
    };
  }
}
