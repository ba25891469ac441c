/**
 * Finds Pulumi's Kubernetes provider (`pulumi-resource-kubernetes`): on PATH, in Pulumi's plugin folder, in our cache, from
 * Pulumi's servers. Where none of these has it, the stand-in of local/provider takes its place.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { namesIn } from './owned-folder.ts';
import { cacheRoot } from './paths.ts';
import { elapsed, silent } from './progress.ts';
import type { Progress } from './progress.ts';
import { version } from './provider/protocol.ts';
import { searchPath } from './programs/lookup.ts';

/** Either the folder of the real provider, or the reason why there is none. */
export type ProviderChoice =
  { readonly kind: 'real'; readonly folder: string } | { readonly kind: 'stand-in'; readonly why: string };

export interface FindProviderOptions {
  /** The pulumi CLI, for the download. */
  readonly cli: string;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
  /** @default the environment of this process */
  readonly environment?: NodeJS.ProcessEnv;
  /** Whence it is downloaded. @default Pulumi's server */
  readonly host?: string;
}

const program = 'pulumi-resource-kubernetes';
const answerMs = 3_000;
const downloadMs = 5 * 60_000;

/** Never fails: without a provider there is the stand-in. */
export async function findProvider(options: FindProviderOptions): Promise<ProviderChoice> {
  const environment = options.environment ?? process.env;
  const around = searchPath(environment).find((folder) => existsSync(join(folder, program)));
  const folder = around ?? installed(pulumiHomeOf(environment)) ?? installed(ownHomeOf(environment));
  return folder === undefined ? download(options, ownHomeOf(environment)) : { kind: 'real', folder };
}

const pulumiHomeOf = (environment: NodeJS.ProcessEnv): string =>
  environment['PULUMI_HOME'] ?? join(homedir(), '.pulumi');

const ownHomeOf = (environment: NodeJS.ProcessEnv): string => join(cacheRoot(environment), 'pulumi');

/** The newest one of the major version that the SDK speaks to; halves of an interrupted download do not count. */
function installed(home: string): string | undefined {
  const plugins = join(home, 'plugins');
  const major = version.split('.', 1)[0] ?? '';
  return namesIn(plugins)
    .filter(
      (name) => name.startsWith(`resource-kubernetes-v${major}.`) && !existsSync(join(plugins, `${name}.partial`)),
    )
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(plugins, name))
    .find((folder) => existsSync(join(folder, program)));
}

async function download(options: FindProviderOptions, home: string): Promise<ProviderChoice> {
  const host = options.host ?? 'https://get.pulumi.com';
  const silence = await whyUnreachable(host);
  if (silence !== undefined) return { kind: 'stand-in', why: silence };
  try {
    await install(options, home);
  } catch (error) {
    options.signal?.throwIfAborted();
    return { kind: 'stand-in', why: (error as Error).message.trim().split('\n').at(-1) ?? '' };
  }
  const folder = installed(home);
  return folder === undefined
    ? { kind: 'stand-in', why: `${host} has none for this machine` }
    : { kind: 'real', folder };
}

/** Asked first, because the CLI tries for long. A proxy is the CLI's affair: then it is just tried. */
async function whyUnreachable(host: string): Promise<string | undefined> {
  if (process.env['HTTPS_PROXY'] !== undefined || process.env['https_proxy'] !== undefined) return undefined;
  try {
    await fetch(host, { method: 'HEAD', signal: AbortSignal.timeout(answerMs) });
    return undefined;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return `${new URL(host).host} cannot be reached: ${cause?.code ?? 'no answer'}`;
  }
}

async function install({ cli, signal, progress = silent }: FindProviderOptions, home: string): Promise<void> {
  const start = Date.now();
  const tell = (): void => progress.update(`downloading Pulumi's Kubernetes provider (${elapsed(Date.now() - start)})`);
  const timer = setInterval(tell, 1_000);
  tell();
  try {
    await promisify(execFile)(cli, ['plugin', 'install', 'resource', 'kubernetes', version, '--non-interactive'], {
      env: { ...process.env, PULUMI_HOME: home, PULUMI_SKIP_UPDATE_CHECK: 'true' },
      timeout: downloadMs,
      ...(signal && { signal }),
    });
  } finally {
    clearInterval(timer);
  }
}
