// Starts `selvedge lsp` and passes on what the user has set. Everything else is the server's.

import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";

/** The languages that the server knows. */
const LANGUAGES = ["eml", "boolean-program", "selvedge-model"];

let client: LanguageClient | undefined;

/** What the server is told, by the names that it knows. */
function settings(): Record<string, unknown> {
  const own = vscode.workspace.getConfiguration("selvedge");
  return {
    findings: own.get<boolean>("findings"),
    timeLimitSeconds: own.get<number>("timeLimitSeconds"),
    pauseMilliseconds: own.get<number>("pauseMilliseconds"),
    only: own.get<string[]>("only"),
  };
}

async function start(): Promise<void> {
  const command = vscode.workspace.getConfiguration("selvedge").get<string>("path") || "selvedge";
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]),
    initializationOptions: settings(),
  };
  client = new LanguageClient("selvedge", "Selvedge", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(
      `Selvedge: \`${command} lsp\` could not be started: ${String(error)}`,
      "Open Settings",
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "selvedge.path");
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("selvedge.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("selvedge.path")) {
        await stop();
        await start();
      } else if (event.affectsConfiguration("selvedge")) {
        await client?.sendNotification("workspace/didChangeConfiguration", {
          settings: { selvedge: settings() },
        });
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
