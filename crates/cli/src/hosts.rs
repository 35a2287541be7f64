//! # Idea
//! The place of this process among others: which list of hosts, which number, and how they come together.
//! Where the program was built without the feature `cluster`, there are no others.

use crate::exit::Exit;
use crate::output::Output;
use selvedge_analysis::Ensemble;
use selvedge_base::Budget;
use std::path::Path;
use std::sync::Arc;

/// Variables of the environment that say which process this is, if no option does: those of Slurm and of
/// an indexed job of Kubernetes.
const NUMBERS: [&str; 2] = ["SLURM_PROCID", "JOB_COMPLETION_INDEX"];

/// The place of this process among others.
pub struct Seat {
    /// Who searches together.
    pub ensemble: Arc<dyn Ensemble>,
    /// A number that tells this run from others, which all processes have in common.
    pub nonce: u64,
    #[cfg(feature = "cluster")]
    cluster: Arc<selvedge_cluster::Cluster>,
}

impl Seat {
    /// Says farewell to the others, who then do not miss this process.
    pub fn part(&self) {
        #[cfg(feature = "cluster")]
        self.cluster.part();
    }
}

/// What a process has to say when it joins others.
#[cfg_attr(
    not(feature = "cluster"),
    expect(dead_code, reason = "nobody is met without the search on several machines")
)]
pub struct Introduction<'a> {
    /// The list of hosts.
    pub hosts: &'a Path,
    /// The number of this one.
    pub process: usize,
    /// How many workers each has.
    pub workers: usize,
    /// What all have to agree on.
    pub about: String,
    /// A number that tells runs apart.
    pub nonce: u64,
    /// What to do when a process is lost.
    pub advice: Option<String>,
}

/// The number of this process, by an option or by the environment.
///
/// # Errors
/// If nothing says so; the text asks for it.
pub fn number(option: Option<usize>) -> Result<usize, String> {
    if let Some(number) = option {
        return Ok(number);
    }
    for name in NUMBERS {
        if let Ok(value) = std::env::var(name) {
            let number = value.parse();
            return number.map_err(|_| format!("{name} is no number of a process: {value}"));
        }
    }
    Err("with --hosts, --process says which line of the file this process is, counted from 0"
        .to_owned())
}

/// Joins the other processes.
#[cfg(feature = "cluster")]
pub fn join(introduction: Introduction<'_>, budget: &Budget, output: Output) -> Result<Seat, Exit> {
    use selvedge_cluster::cluster::PATIENCE;
    use selvedge_cluster::{Cluster, JoinError, JoinRequest, parse_hosts};

    let Introduction { hosts, process, workers, about, nonce, advice } = introduction;
    let refuse = |message: String| {
        output.complain(&message);
        Exit::BadInput
    };
    let shown = hosts.display();
    let text = std::fs::read_to_string(hosts)
        .map_err(|error| refuse(format!("cannot read {shown}: {error}")))?;
    let addresses = parse_hosts(&text).map_err(|error| refuse(format!("{shown}: {error}")))?;
    let request =
        JoinRequest { addresses, process, workers, about, nonce, advice, patience: PATIENCE };
    let cluster = Cluster::join(request, budget).map_err(|error| match error {
        JoinError::Refused(why) => refuse(why),
        other => {
            output.remark(&format!("unknown: {other}\n"));
            Exit::Unknown
        }
    })?;
    let cluster = Arc::new(cluster);
    Ok(Seat { nonce: cluster.nonce(), ensemble: cluster.clone(), cluster })
}

/// There are no other processes.
#[cfg(not(feature = "cluster"))]
pub fn join(_: Introduction<'_>, _: &Budget, output: Output) -> Result<Seat, Exit> {
    output.complain("--hosts needs the feature `cluster`, without which this selvedge was built");
    Err(Exit::BadInput)
}
