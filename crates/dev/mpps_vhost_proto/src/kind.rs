//! Requests of the front end by number and name.

macro_rules! kinds {
    ($(#[$doc:meta])* $type:ident { $($number:literal $variant:ident $name:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $type { $(#[doc = $name] $variant = $number,)* }

        impl $type {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The request with this number.
            pub const fn of(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// Its name in the specification, without `VHOST_USER_`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use kinds;

kinds! {
    /// A request of the front end.
    RequestKind {
        1 GetFeatures "GET_FEATURES";
        2 SetFeatures "SET_FEATURES";
        3 SetOwner "SET_OWNER";
        4 ResetOwner "RESET_OWNER";
        5 SetMemTable "SET_MEM_TABLE";
        6 SetLogBase "SET_LOG_BASE";
        7 SetLogFd "SET_LOG_FD";
        8 SetVringNum "SET_VRING_NUM";
        9 SetVringAddr "SET_VRING_ADDR";
        10 SetVringBase "SET_VRING_BASE";
        11 GetVringBase "GET_VRING_BASE";
        12 SetVringKick "SET_VRING_KICK";
        13 SetVringCall "SET_VRING_CALL";
        14 SetVringErr "SET_VRING_ERR";
        15 GetProtocolFeatures "GET_PROTOCOL_FEATURES";
        16 SetProtocolFeatures "SET_PROTOCOL_FEATURES";
        17 GetQueueNum "GET_QUEUE_NUM";
        18 SetVringEnable "SET_VRING_ENABLE";
        19 SendRarp "SEND_RARP";
        20 NetSetMtu "NET_SET_MTU";
        21 SetBackendReqFd "SET_BACKEND_REQ_FD";
        22 IotlbMsg "IOTLB_MSG";
        23 SetVringEndian "SET_VRING_ENDIAN";
        24 GetConfig "GET_CONFIG";
        25 SetConfig "SET_CONFIG";
        26 CreateCryptoSession "CREATE_CRYPTO_SESSION";
        27 CloseCryptoSession "CLOSE_CRYPTO_SESSION";
        28 PostcopyAdvise "POSTCOPY_ADVISE";
        29 PostcopyListen "POSTCOPY_LISTEN";
        30 PostcopyEnd "POSTCOPY_END";
        31 GetInflightFd "GET_INFLIGHT_FD";
        32 SetInflightFd "SET_INFLIGHT_FD";
        33 GpuSetSocket "GPU_SET_SOCKET";
        34 ResetDevice "RESET_DEVICE";
        35 VringKick "VRING_KICK";
        36 GetMaxMemSlots "GET_MAX_MEM_SLOTS";
        37 AddMemReg "ADD_MEM_REG";
        38 RemMemReg "REM_MEM_REG";
        39 SetStatus "SET_STATUS";
        40 GetStatus "GET_STATUS";
        41 GetSharedObject "GET_SHARED_OBJECT";
        42 SetDeviceStateFd "SET_DEVICE_STATE_FD";
        43 CheckDeviceState "CHECK_DEVICE_STATE";
    }
}
