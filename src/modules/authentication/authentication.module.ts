import { Module, type DynamicModule } from '@nestjs/common';
import type { RequestAuthenticator } from '../../auth/request-authenticator.js';
import type { Clock } from '../../std/clock.js';
import { AuthenticationGroup } from './authentication.group.js';

export interface AuthenticationParts {
  readonly authenticator: RequestAuthenticator;
  readonly clock: Clock;
}

@Module({})
export class AuthenticationModule {
  static for({ authenticator, clock }: AuthenticationParts): DynamicModule {
    return {
      module: AuthenticationModule,
      providers: [{ provide: AuthenticationGroup, useFactory: () => new AuthenticationGroup(authenticator, clock) }],
    };
  }
}
