/**
 * Outfitter's extension for interactive Pi sessions: build and plan mode on Shift+Tab, and `/outfitter`.
 *
 * Pi has chosen its configuration directory before this file is loaded, so nothing here can change the agent of the
 * running session: what concerns another agent says that it holds from the next launch on.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

type Mode = "build" | "plan";

interface Launch {
	agent: string;
	label: string;
	inherits: string[];
	skills: string[];
	servers: string[];
	extensions: string[];
}

/** Tools that look and never change anything; plan mode lets nothing else through, whatever an extension or a server adds. */
const READ_ONLY = ["read", "grep", "find", "ls"];
const STATUS = "outfitter-mode";
const NEXT_LAUNCH = "takes effect at the next launch; this session keeps its agent";
const PLAN_NOTE = [
	"Plan mode is on: only tools that read are available, and every other tool call is refused.",
	"Investigate and propose a plan; do not try to change files or to run commands.",
].join(" ");
const USAGE = "/outfitter [status | build | plan | agents | show [AGENT] | validate | use AGENT]";
const WORDS = ["status", "build", "plan", "agents", "show", "validate", "use"];

function readLaunch(): Launch {
	const here = dirname(fileURLToPath(import.meta.url));
	return JSON.parse(readFileSync(join(here, "launch.json"), "utf8")) as Launch;
}

function listed(names: string[]): string {
	return names.length > 0 ? names.join(", ") : "none";
}

export default function outfitter(pi: ExtensionAPI): void {
	const launch = readLaunch();
	let mode: Mode = "build";
	let buildTools: string[] | undefined;

	function enter(next: Mode, ctx: ExtensionContext): void {
		if (next === mode) {
			ctx.ui.notify(`Outfitter: ${mode} mode is on already.`, "info");
			return;
		}
		if (next === "plan") {
			const known = new Set(pi.getAllTools().map((tool) => tool.name));
			buildTools = pi.getActiveTools();
			mode = next;
			pi.setActiveTools(READ_ONLY.filter((name) => known.has(name)));
			ctx.ui.setStatus(STATUS, ctx.ui.theme.fg("warning", "plan"));
			ctx.ui.notify("Outfitter: plan mode. Tools only read; Bash and every writing tool are blocked.", "info");
			return;
		}
		mode = next;
		pi.setActiveTools(buildTools ?? pi.getActiveTools());
		buildTools = undefined;
		ctx.ui.setStatus(STATUS, undefined);
		ctx.ui.notify("Outfitter: build mode. The agent's tools are back.", "info");
	}

	function status(): string {
		return [
			`Outfitter: agent ${launch.agent}${launch.label && launch.label !== launch.agent ? ` (${launch.label})` : ""}, ${mode} mode`,
			`inherits: ${listed(launch.inherits)}`,
			`skills: ${listed(launch.skills)}`,
			`MCP servers: ${listed(launch.servers)}`,
			`extensions: ${listed(launch.extensions)}`,
			`Another agent or loadout ${NEXT_LAUNCH}.`,
		].join("\n");
	}

	/** Run `outfitter` itself and show what it says; it may not be on this session's PATH. */
	async function ask(words: string[], ctx: ExtensionContext): Promise<void> {
		const result = await pi
			.exec("outfitter", words, { cwd: ctx.cwd, timeout: 30_000 })
			.catch((error: unknown) => ({ stdout: "", stderr: String(error), code: 127 }));
		const text = `${result.stdout}${result.stderr}`.trim();
		const failed = result.code !== 0;
		const lead = failed && text.includes("ENOENT") ? "the outfitter command cannot be run from this session: " : "";
		ctx.ui.notify(`Outfitter: ${lead}${text || `no answer (code ${result.code})`}`, failed ? "warning" : "info");
	}

	async function command(args: string, ctx: ExtensionContext): Promise<void> {
		const [word = "status", ...rest] = args.trim().split(/\s+/).filter((part) => part !== "");
		if (word === "build" || word === "plan") enter(word, ctx);
		else if (word === "status") ctx.ui.notify(status(), "info");
		else if (word === "agents") await ask(["list", "agents"], ctx);
		else if (word === "show") await ask(["show", rest[0] ?? launch.agent], ctx);
		else if (word === "validate") await ask(["validate"], ctx);
		else if (word === "use" && rest[0]) {
			ctx.ui.notify(`Outfitter: agent ${rest[0]} ${NEXT_LAUNCH}. Start it with: outfitter run ${rest[0]}`, "info");
		} else ctx.ui.notify(`Outfitter: ${USAGE}`, "warning");
	}

	pi.registerShortcut("shift+tab", {
		description: "Outfitter: switch between build and plan mode",
		handler: (ctx) => enter(mode === "build" ? "plan" : "build", ctx),
	});

	pi.registerCommand("outfitter", {
		description: "Outfitter: this launch's agent, its mode, and what the tree offers",
		getArgumentCompletions: (prefix) =>
			// A whole word is not offered: Enter would take the offer instead of running the command.
			WORDS.filter((word) => word.startsWith(prefix) && word !== prefix).map((word) => ({ value: word, label: word })),
		handler: command,
	});

	pi.on("tool_call", (event) => {
		if (mode !== "plan" || READ_ONLY.includes(event.toolName)) return undefined;
		return { block: true, reason: `Outfitter plan mode blocks ${event.toolName}; Shift+Tab or /outfitter build leaves it.` };
	});

	pi.on("before_agent_start", (event) => (mode === "plan" ? { systemPrompt: `${event.systemPrompt}\n\n${PLAN_NOTE}` } : undefined));
}
